-- The account's own tenant name. External users hang on it, so that a start with another name is refused. Null until
-- the first start that knows of it.
alter table installation add tenant text;
