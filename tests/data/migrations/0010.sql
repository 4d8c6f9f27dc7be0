INSERT INTO message_vector VALUES (4294967297, 'text-embedding-3-small', 2, x'0000803f00000000');
