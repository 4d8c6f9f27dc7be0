INSERT INTO link_cache VALUES (4294967298, 1, 77, '[[1,0.9]]');
