-- Readiness is asked of this table: can a page be written and kept? Each row fills a page of its own, and is deleted at
-- once, so that a full disk shows. Unlike TOAST and compression, plain storage keeps the row that large.
create table write_probes (filler text not null);
alter table write_probes alter filler set storage plain;
