-- The page to which a service sends people back: /oauth/callback, or one below it with this name.
alter table oauth_integrations
  add column redirect_name text not null default '' check (length(redirect_name) <= 64);
