UPDATE chat SET time_zone = 'Europe/Tallinn' WHERE chat_key = 1;
