UPDATE chat SET daily_tokens = 100000, askers = 'admins' WHERE chat_key = 1;
