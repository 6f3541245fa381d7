-- What a row holds is bounded, in bytes of the text that is stored. The name of each constraint ends with its limit,
-- which the answer to the caller is made from. The server counts JSON as it was sent. The database writes it with more
-- spaces, and numbers written out, so its own limit of JSON is twice as high. Rows from before may be larger: they stay
-- until they are changed.
alter table reports
  add constraint reports_name_max_4_kb check (octet_length(name) <= 4 * 1024) not valid,
  add constraint reports_title_max_4_kb check (octet_length(title) <= 4 * 1024) not valid,
  add constraint reports_description_max_40_kb check (octet_length(description) <= 40 * 1024) not valid,
  -- Indexes take no more than 2704 bytes.
  add constraint reports_external_workbook_id_max_2_kb check (octet_length(external_workbook_id) <= 2 * 1024) not valid,
  add constraint reports_result_location_max_4_kb check (octet_length(result_location) <= 4 * 1024) not valid,
  add constraint reports_end_result_cell_max_4_kb check (octet_length(end_result_cell) <= 4 * 1024) not valid,
  add constraint reports_sql_query_max_256_kb check (octet_length(sql_query) <= 256 * 1024) not valid,
  add constraint reports_json_query_max_256_kb check (octet_length(json_query) <= 256 * 1024) not valid,
  add constraint reports_pivot_items_max_128_kb check (octet_length(pivot_items::text) <= 128 * 1024) not valid,
  add constraint reports_meta_max_128_kb check (octet_length(meta::text) <= 128 * 1024) not valid;

alter table report_placements
  add constraint report_placements_external_workbook_id_max_1_kb check (octet_length(external_workbook_id) <= 1024) not valid,
  add constraint report_placements_result_location_max_1_kb check (octet_length(result_location) <= 1024) not valid,
  add constraint report_placements_end_result_cell_max_1_kb check (octet_length(end_result_cell) <= 1024) not valid;

alter table workbooks
  add constraint workbooks_name_max_4_kb check (octet_length(name) <= 4 * 1024) not valid,
  add constraint workbooks_meta_max_128_kb check (octet_length(meta::text) <= 128 * 1024) not valid,
  add constraint workbooks_calculated_fields_max_128_kb check (octet_length(calculated_fields::text) <= 128 * 1024) not valid,
  add constraint workbooks_dashboard_draft_max_10240_kb check (octet_length(dashboard_draft::text) <= 10240 * 1024) not valid,
  add constraint workbooks_dashboard_draft_max_2048_kb check (
    dashboard_draft->>'kind' is not distinct from 'APP' or octet_length(dashboard_draft::text) <= 2048 * 1024) not valid,
  add constraint "workbooks_dashboard_draft.theme_max_128_kb" check (octet_length(dashboard_draft->>'theme') <= 128 * 1024) not valid,
  add constraint workbooks_dashboard_published_max_10240_kb check (octet_length(dashboard_published::text) <= 10240 * 1024) not valid,
  add constraint workbooks_dashboard_published_max_2048_kb check (
    dashboard_published->>'kind' is not distinct from 'APP' or octet_length(dashboard_published::text) <= 2048 * 1024) not valid,
  -- An app's dashboard is in no list.
  add draft_is_app boolean not null generated always as (coalesce(dashboard_draft->>'kind' = 'APP', false)) stored,
  add published_is_app boolean not null generated always as (coalesce(dashboard_published->>'kind' = 'APP', false)) stored,
  -- What the large fields of a workbook add to a list, so that a page can be cut without reading them.
  add listed_bytes int not null generated always as (
    octet_length(meta::text) + octet_length(calculated_fields::text)
    + case when dashboard_draft is null or dashboard_draft->>'kind' = 'APP' then 0 else octet_length(dashboard_draft::text) end
    + case when dashboard_published is null or dashboard_published->>'kind' = 'APP' then 0 else octet_length(dashboard_published::text) end
  ) stored;

alter table users
  add constraint users_notifications_max_128_kb check (octet_length(notifications::text) <= 128 * 1024) not valid,
  add constraint users_settings_max_128_kb check (octet_length(settings::text) <= 128 * 1024) not valid,
  add constraint users_tos_accepted_max_128_kb check (octet_length(tos_accepted::text) <= 128 * 1024) not valid;
