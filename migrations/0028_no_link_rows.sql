-- Link scores are remembered in memory alone. After a restart they are worked out again, once for each conversation that is
-- asked in.
DROP TABLE link_cache;
