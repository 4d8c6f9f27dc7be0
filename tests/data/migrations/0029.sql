INSERT INTO session VALUES (4294967299, 1, NULL, 1700090000, 103, 1700090120, 103, 1, 'silence', 1700090180000, 43, 43, NULL);
INSERT INTO mini_summary VALUES (4294967299, '{u1} asked who brings the tent', 8, 'extract', 'none', 1700090181000);
