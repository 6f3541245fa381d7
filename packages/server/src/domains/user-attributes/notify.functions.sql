create or replace trigger user_attribute_values_added after insert on user_attribute_values
  referencing new table as changed for each statement execute function notify_rights_of_users();
create or replace trigger user_attribute_values_changed after update on user_attribute_values
  referencing new table as changed for each statement execute function notify_rights_of_users();
create or replace trigger user_attribute_values_removed after delete on user_attribute_values
  referencing old table as changed for each statement execute function notify_rights_of_users();

-- Every viewer has all attributes of a catalogue, with their defaults.
create or replace trigger user_attributes_changed after insert or update or delete on user_attributes
  for each statement execute function notify_credentials('viewers');
