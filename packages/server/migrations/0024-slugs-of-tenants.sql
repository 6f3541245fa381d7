-- Each embed tenant, and the main workspace, has slugs of its own: nobody learns of another's, or is blocked by one.
drop index workbooks_slug_key;
create unique index workbooks_slug_key on workbooks (deployment_id, embed_tenant, slug) nulls not distinct
  where slug is not null;
