INSERT INTO token_calibration VALUES ('a-model', 0.71);
