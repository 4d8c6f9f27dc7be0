UPDATE chat SET has_other_bots = 1 WHERE chat_key = 1;
