-- The newest version of the dashboard of which others may get the view of the owner, by the word of the owner or an admin. Null
-- after a schedule went to an heir.
alter table notifications add column agreed_version integer;

update notifications n set agreed_version = d.version_number from dashboards d where d.id = n.dashboard_id;
