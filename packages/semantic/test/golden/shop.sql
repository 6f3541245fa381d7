create table countries (id bigint, name text);
insert into countries values (1, 'Austria'), (2, 'Peru');
create table customers (id bigint, name text, region text, country_id bigint);
insert into customers values
  (9007199254740993, 'Ada', 'eu', 1), (9007199254740992, 'Bob', 'eu', null), (3, 'Cem', 'us', 2), (4, 'Dee', null, 2);
create table orders (id bigint, customer_id bigint, status text, is_paid boolean, amount numeric(10, 2), created_at timestamp);
insert into orders values
  (1, 9007199254740993, 'open', true, 100, '2024-03-30 22:59:59.999999'),
  (2, 9007199254740993, 'done', true, 20.50, '2024-03-30 23:00:00'),
  (3, 9007199254740992, 'open', false, 0, '2024-03-31 01:30:00'),
  (4, 3, 'done', null, 250, '2024-04-01 12:00:00'),
  (5, null, null, true, null, '2024-10-27 00:30:00'),
  (6, 4, 'Open 50%', false, 7.25, '2024-10-27 01:30:00');
create table items (id bigint, order_id bigint, product text, quantity integer, deleted boolean);
insert into items values
  (1, 1, 'pen', 2, false), (2, 1, 'ink', 1, false), (3, 2, 'pen', 5, false), (4, 4, 'pen', 1, false), (5, 4, 'ink', 9, true);
create table tickets (id bigint, customer_id bigint, kind text);
insert into tickets values
  (1, 9007199254740993, 'bug'), (2, 9007199254740993, 'question'), (3, 4, 'bug'), (4, 4, null);
