INSERT INTO follow_up VALUES ('01HF7YAT00000000000000000A', 1, NULL, '01HF7YAT00000000000000000A', 1700000061000,
                              '{"frame":{"intent":"suggest","confidence":0.85,"kind":"book","popular":false}}');
INSERT INTO frame VALUES ('01HF7YAT00000000000000000A', 1, NULL, 11, 1700000061000,
                          '{"intent":"suggest","confidence":0.85,"kind":"book","popular":false}', NULL);
INSERT INTO item VALUES ('01HF7YAT00000000000000000A', 1, 'A Tale', 'book', '["Jane Doe"]', 1299, 'EUR', NULL);
INSERT INTO concept VALUES ('01HF7YAT00000000000000000C', '01HF7YAT00000000000000000A', 1, 'Value-added tax', '["VAT"]',
                            'A tax on goods and services.', 'tax', 1700000061000);
INSERT INTO conversation_context VALUES ('1', '1', '{"activeNodeIds":["01HF7YAT00000000000000000C"]}', 1700000061000);
INSERT INTO concept_scan VALUES ('01HF7YAT00000000000000000A');
