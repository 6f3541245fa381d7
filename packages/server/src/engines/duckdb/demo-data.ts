/**
 * Makes the data of the demo: what a shop sold in the three years up to a moment. Every value comes from a hash of its row's
 * number, and every time from that and the moment, so both are the same on every machine.
 */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

const DEMO_TABLES = ['customers', 'products', 'orders', 'line_items', 'events'] as const;

const DAYS = 1096;
const CUSTOMERS = 1200;
const PRODUCTS = 180;
const ORDERS = 12_000;
const EVENTS = 30_000;

const list = (...values: string[]) => `[${values.map((value) => `'${value}'`).join(', ')}]`;

const macrosOf = (until: string) => [
  // A number from 0 to n - 1.
  "create macro draw(salt, i, n) as (('0x' || left(md5(concat(salt, ':', i)), 7))::bigint % n)",
  'create macro pick(salt, i, choices) as choices[draw(salt, i, len(choices)) + 1]',
  // Small numbers come more often, as with real customers.
  "create macro skewed(salt, i, n) as (draw(salt, i, n) * draw(concat(salt, '2'), i, n)) // n",
  // Nothing has happened since then, and nothing before the first moment.
  `create macro until() as timestamp '${until.slice(0, 19).replace('T', ' ')}'`,
  `create macro since() as until() - to_days(${DAYS})`,
  `create macro moment(salt, i) as since() + to_seconds(draw(salt, i, ${DAYS} * 86400))`,
  // The shop grows, and one order in seven comes in the weeks before the end of the year.
  "create macro grown(i) as case when draw('grows', i, 3) = 0 then moment('ordered', i) else greatest(moment('ordered', i), moment('later', i)) end",
  "create macro in_season(i) as date_trunc('year', grown(i)) + to_seconds(26438400 + draw('week', i, 4838400))",
  `create macro bought(i) as case when draw('season', i, 7) = 0 and in_season(i) >= since() and in_season(i) < until()
    then in_season(i) else grown(i) end`,
  // Each customer is served by a warehouse of their region.
  `create macro warehouse_of(i, place) as case when place < 5 then pick('warehouse', i, ${list('Rotterdam', 'Rotterdam', 'Leipzig')})
    when place < 9 then pick('warehouse', i, ${list('Austin', 'Austin', 'Toronto')}) else pick('warehouse', i, ${list('Osaka', 'Perth')}) end`,
];

const PLACES = `(values
  (0, 'EU', 'Germany', 'DE', 'Berlin'), (1, 'EU', 'Germany', 'DE', 'Hamburg'), (2, 'EU', 'France', 'FR', 'Lyon'),
  (3, 'EU', 'Spain', 'ES', 'Valencia'), (4, 'EU', 'Italy', 'IT', 'Turin'), (5, 'AMER', 'United States', 'US', 'Austin'),
  (6, 'AMER', 'United States', 'US', 'Portland'), (7, 'AMER', 'Canada', 'CA', 'Toronto'), (8, 'AMER', 'Brazil', 'BR', 'Recife'),
  (9, 'APAC', 'Japan', 'JP', 'Osaka'), (10, 'APAC', 'India', 'IN', 'Pune'), (11, 'APAC', 'Australia', 'AU', 'Perth')
) as places (place, region, country, country_code, city)`;

const CATEGORIES = list('Chairs', 'Desks', 'Lamps', 'Shelves', 'Storage', 'Textiles');
/** One piece of each category, in the same order. */
const PIECES = list('Chair', 'Desk', 'Lamp', 'Shelf', 'Storage Box', 'Throw');
const BRANDS = list('Arbor', 'Fjell', 'Lumen', 'Nordlicht', 'Oakline', 'Terra');

const SELECTS: Record<(typeof DEMO_TABLES)[number], string> = {
  customers: `
    select i as id,
      concat(pick('first', i, ${list('Alder', 'Birch', 'Cedar', 'Elm', 'Hazel', 'Juniper', 'Maple', 'Willow')}), ' ',
        pick('second', i, ${list('Works', 'Studio', 'Trading', 'Partners', 'Supply', 'House')}), ' ', i) as name,
      concat('buyer', i, '@example.com') as email, region, country, country_code, city,
      pick('tier', i, [1, 1, 1, 1, 2, 2, 3, 4])::integer as tier, moment('signup', i) as signed_up_at
    from range(1, ${CUSTOMERS + 1}) as numbers (i) join ${PLACES} on place = draw('place', i, 12) order by i`,
  products: `
    select i as id, concat(pick('brand', i, ${BRANDS}), ' ', pick('category', i, ${PIECES}), ' ', i) as name,
      pick('category', i, ${CATEGORIES}) as category, pick('brand', i, ${BRANDS}) as brand,
      concat('https://example.com/pictures/', i, '.png') as picture_url,
      ((500 + draw('cost', i, 30000)) / 100)::decimal(10, 2) as cost
    from range(1, ${PRODUCTS + 1}) as numbers (i) order by i`,
  orders: `
    select id, customer_id, status, channel, warehouse, ordered_at, shipping_cost,
      min(ordered_at) over (partition by customer_id) as first_ordered_at,
      case when status in ('shipped', 'completed', 'returned') then shipped end as shipped_at,
      case when status in ('completed', 'returned') then delivered end as delivered_at,
      ordered_at + to_days(5) as promised_at
    from (
      select * exclude (ends), shipped + to_hours(14 + skewed('transit', id, 170)) as delivered,
        -- What would be shipped or delivered later has not happened yet.
        case when ends in ('processing', 'cancelled') then ends when shipped >= until() then 'processing'
          when ends <> 'shipped' and delivered >= until() then 'shipped' else ends end as status
      from (
      select *, warehouse_of(id, draw('place', customer_id, 12)) as warehouse, ordered_at + to_hours(3 + skewed('pack', id, 90)) as shipped
      from (
        select i as id, 1 + skewed('customer', i, ${CUSTOMERS}) as customer_id,
          pick('status', i, ${list(...Array<string>(13).fill('completed'), 'returned', 'shipped', 'shipped', 'processing', 'processing', 'cancelled')}) as ends,
          pick('channel', i, ${list('web', 'web', 'mobile', 'partner', 'phone')}) as channel, bought(i) as ordered_at,
          ((300 + draw('shipping', i, 2500)) / 100)::decimal(10, 2) as shipping_cost
        from range(1, ${ORDERS + 1}) as numbers (i))))
    order by id`,
  line_items: `
    select o * 10 + l as id, o as order_id, 1 + skewed('product', o * 10 + l, ${PRODUCTS}) as product_id,
      (1 + skewed('quantity', o * 10 + l, 8))::integer as quantity,
      ((900 + draw('price', skewed('product', o * 10 + l, ${PRODUCTS}), 45000)) / 100)::decimal(10, 2) as unit_price,
      pick('discount', o * 10 + l, [0, 0, 0, 0.05, 0.1, 0.2])::decimal(4, 2) as discount
    from range(1, ${ORDERS + 1}) as orders (o), range(0, 5) as lines (l) where l <= draw('lines', o, 5) order by id`,
  events: `
    select i as id, 1 + skewed('visitor', i // 5, ${CUSTOMERS}) as customer_id,
      case i % 5 when 0 then 'view' when 1 then 'search' when 2 then 'view'
        when 3 then 'add_to_cart' else pick('kind', i, ${list('view', 'view', 'checkout')}) end as kind,
      concat('https://example.com/', pick('page', i, ${list('home', 'search', 'product', 'basket')})) as page,
      pick('device', i // 5, ${list('desktop', 'mobile', 'mobile', 'tablet')}) as device,
      left(md5(concat('session:', i // 5)), 12) as session_id,
      least(until() - to_seconds(5 - i % 5), moment('visit', i // 5) + to_seconds(i % 5 * 40 + draw('pause', i, 40))) as happened_at
    from range(1, ${EVENTS + 1}) as numbers (i) order by i`,
};

/** Writes one Parquet file for each table. The last rows are right before the moment, `2026-12-31T15:00:00.000Z`. */
export async function writeDemoData(folder: string, until: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  for (const macro of macrosOf(until)) await connection.run(macro);
  for (const table of DEMO_TABLES) {
    const path = join(folder, `${table}.parquet`).replaceAll("'", "''");
    await connection.run(`copy (${SELECTS[table]}) to '${path}' (format parquet)`);
  }
  connection.closeSync();
  instance.closeSync();
}
