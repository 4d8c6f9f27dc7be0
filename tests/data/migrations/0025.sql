INSERT INTO conversation_topic VALUES (1, 0, 1, 8, 3, 0, 0, 5);
INSERT INTO active_topic VALUES (1, 0, 0, 1);
INSERT INTO topic_summary VALUES (1, '{u1} books the Thai place', 7, 'model', 'small', 1700000061000, 0);
INSERT INTO topic_source VALUES (1, 0, 1);
INSERT INTO topic_session VALUES (1, 4294967297);
