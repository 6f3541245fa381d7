-- What callers see of each folder on the path, as the text of a JSON object. Lists of reports, workbooks and folders
-- show it with every row, and looking up the names there took as long as reading the rows.
alter table folders add shown_path text[];

update folders f set shown_path = array(
  select concat('{"id":', above.id, ',"name":', to_json(above.name), '}')
  from unnest(f.path) with ordinality as step (id, depth) join folders above on above.id = step.id
  order by step.depth);

alter table folders alter shown_path set not null;
