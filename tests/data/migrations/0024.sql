INSERT INTO strand_summary VALUES (2, 1, NULL, 'A boat was to be hired.', 7, 'model', 'test', 1700000184000);
INSERT INTO strand_source VALUES (1, 1, 2);
