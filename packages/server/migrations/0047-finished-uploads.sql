-- An upload that was finished is kept until it expires, so that a tool which lost the reply can ask again.
alter table uploads
  -- The newest commit of the branch after the finish.
  add column finished_head text,
  -- A digest of what the finish asked for.
  add column finished_request text,
  -- Whether the start asked for the root of the deployment's settings.
  add column uses_root boolean not null default false;
update uploads set uses_root = true where root <> '';

-- What the objects of the data model take: as the last sweep measured it, and what was written since.
alter table data_models
  add column stored_bytes bigint not null default 0,
  add column written_bytes bigint not null default 0;
