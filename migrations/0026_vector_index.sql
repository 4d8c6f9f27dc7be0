-- The vec0 indexes hold the first values of each vector alone now, in other parts. Those of the former form are made anew when the
-- daemon starts; until then vectors are compared one by one.
UPDATE vector_space SET is_indexed = 0;
