-- One row: what belongs to the installation as a whole.
create table installation (
  singleton boolean primary key default true check (singleton),
  created_at timestamptz not null default now(),
  -- Tells a server that was started with another secret key than the one that encrypted what is stored here.
  secret_fingerprint text not null,
  demo_seeded_at timestamptz
);
