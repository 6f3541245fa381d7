-- What an admin can keep with a person: how embedded pages look for them, and what queries are told of them.
alter table users
  add column embed_theme jsonb check (octet_length(embed_theme::text) <= 128 * 1024),
  add column security_context jsonb check (octet_length(security_context::text) <= 128 * 1024);
