INSERT INTO held_text VALUES ('-1001000000001:105', '@bot and now?', '[]');
