-- The sealed secret of a link that waits to be mailed.
alter table password_links add column mail_secret bytea;
