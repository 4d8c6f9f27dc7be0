UPDATE chat SET own_language = 'fra' WHERE chat_key = 1;
