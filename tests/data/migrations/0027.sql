INSERT INTO tool_refusal VALUES ('models.example.org', 'small', 1700000065000);
