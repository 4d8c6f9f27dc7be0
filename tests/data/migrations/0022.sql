UPDATE chat SET grounding = 'strict', streaming = 0;
UPDATE answer SET uncertainty = 'low';
INSERT INTO reply_stream VALUES ('answer:-1001000000001:109', -1001000000001, 110, 1700000064000);
