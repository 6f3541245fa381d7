create or replace trigger user_group_members_added after insert on user_group_members
  referencing new table as changed for each statement execute function notify_rights_of_users();
create or replace trigger user_group_members_changed after update on user_group_members
  referencing new table as changed for each statement execute function notify_rights_of_users();
create or replace trigger user_group_members_removed after delete on user_group_members
  referencing old table as changed for each statement execute function notify_rights_of_users();

-- Viewers have the names of their groups.
create or replace trigger user_groups_renamed after update of name on user_groups
  for each row when (new.name <> old.name) execute function notify_credentials('viewers');
