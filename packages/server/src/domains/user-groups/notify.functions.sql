create or replace trigger user_group_members_added after insert on user_group_members
  referencing new table as changed for each statement execute function notify_credentials_of_people();
create or replace trigger user_group_members_removed after delete on user_group_members
  referencing old table as changed for each statement execute function notify_credentials_of_people();
