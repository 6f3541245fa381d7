-- What a published dashboard shows where, for small pictures of it in lists.
alter table workbooks add column dashboard_outline jsonb
  constraint workbooks_dashboard_outline_max_8_kb check (octet_length(dashboard_outline::text) <= 8 * 1024);

update workbooks w set dashboard_outline = o.outline
from (
  select d.workbook_id, jsonb_agg(jsonb_build_object(
      'x', g.widget->'position'->'x', 'y', g.widget->'position'->'y',
      'w', g.widget->'position'->'w', 'h', g.widget->'position'->'h',
      'shows', case
        when g.widget->>'type' = 'CHART' then
          case when s.kind in ('table', 'kpi', 'map', 'html') then s.kind else 'column' end
        when g.widget->>'type' in ('FILTER', 'TIME_GRAIN') then 'control'
        else 'text' end)
    order by g.place) filter (where g.place <= 60) as outline
  from dashboards d
    join dashboard_versions v on v.dashboard_id = d.id and v.number = d.version_number
    cross join jsonb_array_elements(case when jsonb_typeof(v.config->'widgets') = 'array' then v.config->'widgets' else '[]' end)
      with ordinality g (widget, place)
    left join lateral (
      select snapshot->>'kind' as kind
      from jsonb_array_elements(case when jsonb_typeof(v.snapshots) = 'array' then v.snapshots else '[]' end) snapshot
      where snapshot->>'reportId' = g.widget->'config'->>'reportId' limit 1) s on true
  where d.unpublished_at is null
  group by d.workbook_id) o
where o.workbook_id = w.id and w.dashboard_published is not null and not w.published_is_app
  and octet_length(o.outline::text) <= 8 * 1024;
