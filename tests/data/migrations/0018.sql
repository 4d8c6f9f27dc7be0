INSERT INTO vector_space VALUES (1, 'chat-static', 2, 'active', 0), (2, 'text-embedding-3-small', 2, 'filling', 0);
INSERT INTO message_vector VALUES (4294967297, 1, x'1600'), (4294967297, 2, x'0016');
INSERT INTO summary_vector SELECT session_id, 1, x'1600' FROM mini_summary LIMIT 1;
INSERT INTO vector_progress VALUES (1, 1, 1);
INSERT INTO vector_due VALUES (4294967298);
