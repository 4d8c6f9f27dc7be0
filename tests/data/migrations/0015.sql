INSERT INTO topic_name VALUES (1, 77, 'Trip to the lake');
