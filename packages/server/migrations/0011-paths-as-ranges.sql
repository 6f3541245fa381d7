-- What is below a folder are the paths that begin with its own: a range, which takes less to walk, and to keep, than
-- finding every path with its id in it.
create index folders_by_path on folders (path) include (id);
drop index folders_below;
