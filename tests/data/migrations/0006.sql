INSERT INTO link_cache VALUES (4294967298, 1, '[[1,0.9]]');
