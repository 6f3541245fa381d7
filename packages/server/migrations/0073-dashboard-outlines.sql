-- What a published dashboard shows where, for small pictures of it in lists. Null until it is published again.
alter table workbooks add column dashboard_outline jsonb
  constraint workbooks_dashboard_outline_max_8_kb check (octet_length(dashboard_outline::text) <= 8 * 1024);
