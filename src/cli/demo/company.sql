-- Fernholm, a shop for outdoor gear: orders, stock and support from July 2024 to December 2025.
-- Every value is drawn from the MD5 of the seed, a name and the number of a row: the same rows on every machine.
-- What makes real warehouses hard is in it on purpose: buyers that were erased, orders without a buyer, gifts to other
-- regions, names that follow no rule, and not one declared key.

CREATE TEMP MACRO draw(name, n) AS (md5_number_lower(concat_ws(':', getvariable('seed'), name, n)) >> 11) / 9007199254740992.0;
CREATE TEMP MACRO whole(name, n, low, high) AS (low + floor(draw(name, n) * (high - low + 1)))::INTEGER;
CREATE TEMP MACRO pick(name, n, items) AS items[whole(name, n, 1, len(items))];
CREATE TEMP MACRO day(number) AS DATE '2024-07-01' + number::INTEGER;
CREATE TEMP MACRO moment(name, n, number) AS day(number)::TIMESTAMP + to_seconds(whole(name, n, 25200, 82799));
CREATE TEMP MACRO person(name, n) AS pick(name || ' first', n, regexp_split_to_array('Ada Aino Anna Bas Bruno Clara Daan Elif Emma Erik Femke Finn
 Greta Hanna Hugo Ida Ines Jan Juho Kaja Lars Lea Luca Maja Mats Mila Nils Noor Olga Oskar Pia Rosa Sara Sven Tess Vera', '\s+'))
  || ' ' || pick(name || ' last', n, regexp_split_to_array('Aalto Becker Blom Brandt Carvalho Costa Dekker Eriksen Falk Fischer Garcia Haas Hansen Holm
 Jansen Kask Keller Kivi Koch Laine Lund Maes Meyer Murphy Nowak Olsen Ozols Ramos Reid Ruiz Silva Tamm Visser Zeller', '\s+'));

CREATE TABLE regions AS FROM (VALUES ('NRD', 'Nordics'), ('DCH', 'DACH'), ('BNL', 'Benelux'), ('ISL', 'British Isles'),
  ('IBR', 'Iberia'), ('BLT', 'Baltics')) AS v(rgn_cd, rgn_nm);
CREATE TABLE warehouses AS FROM (VALUES ('HAM1', 'Hamburg', 'DCH'), ('RTM1', 'Rotterdam', 'BNL'), ('GOT2', 'Gothenburg', 'NRD'),
  ('RIX1', 'Riga', 'BLT')) AS v(whs_cd, city, rgn_cd);

-- The first employee has no manager; everybody else's was hired earlier.
CREATE TABLE employees AS
SELECT (1010 + 7 * n)::INTEGER AS emp_no, person('employee', n) AS full_name,
  CASE WHEN n > 0 THEN 1010 + 7 * whole('manager', n, 0, least(n, 9)::INTEGER - 1) END AS manager_id,
  CASE WHEN n < 9 THEN 'management' ELSE pick('team', n, ['support', 'logistics', 'sales']) END AS team,
  day(n * 38 - 1500) AS hired_on
FROM range(46) AS r(n) ORDER BY n;

-- Everybody who ever was a customer; `customers` has those that did not ask to be erased.
CREATE TEMP TABLE everyone AS
SELECT n, 20100 + 4 * n::INTEGER + whole('customer', n, 0, 3) AS id, (n * 1400) // 960 - 880 AS since,
  pick('region', n, string_split('NRD NRD NRD NRD DCH DCH DCH DCH DCH BNL BNL BNL ISL ISL IBR BLT', ' ')) AS region
FROM range(960) AS r(n);
CREATE TABLE customers AS
SELECT id, person('customer', n) AS full_name, replace(lower(full_name), ' ', '.') || '.' || id % 1000 || '@example.com' AS email,
  CASE WHEN n % 83 <> 40 THEN region END AS cust_rgn, day(since) AS signed_up_on,
  CASE WHEN draw('managed', n) < 0.2 THEN 1010 + 7 * whole('account manager', n, 34, 45) END AS acct_mgr
FROM everyone WHERE n % 29 <> 11 ORDER BY n;
CREATE TABLE customer_profile AS
SELECT id AS customer_id, whole('born', id, 1948, 2006) AS birth_year, draw('newsletter', id) < 0.4 AS newsletter,
  25 * whole('points', id, 0, 240) AS loyalty_pts
FROM customers WHERE draw('profile', id) < 0.86 ORDER BY id;

CREATE TABLE categories AS FROM (VALUES (1, 'Shelter', NULL), (2, 'Packs', NULL), (3, 'Kitchen', NULL), (4, 'Clothing', NULL),
  (5, 'Tents', 1), (6, 'Tarps', 1), (7, 'Daypacks', 2), (8, 'Trekking packs', 2), (9, 'Stoves', 3), (10, 'Pot sets', 3),
  (11, 'Jackets', 4), (12, 'Base layers', 4)) AS v(cat_id, cat_nm, parent_cat);
CREATE TABLE products AS
SELECT prefix || '-' || (100 * whole('code', cat_id * 100 + n, 1, 89) + n) AS prod_cd,
  ['Alder', 'Birch', 'Cedar', 'Dune', 'Ember', 'Fjord', 'Glade', 'Heath', 'Isle', 'Juniper', 'Kelp', 'Larch'][n] || ' ' || noun AS prod_nm,
  cat_id, (whole('price', cat_id * 100 + n, low, high) - 0.05)::DECIMAL(10, 2) AS list_price,
  CASE WHEN draw('gone', cat_id * 100 + n) < 0.1 THEN day(whole('gone on', cat_id * 100 + n, 90, 500)) END AS discontinued_on
FROM (VALUES ('TNT', 5, 'Tent', 149, 589), ('TRP', 6, 'Tarp', 39, 129), ('DPK', 7, 'Daypack', 45, 119),
  ('TPK', 8, 'Trekking pack', 119, 289), ('STV', 9, 'Stove', 29, 149), ('CKW', 10, 'Pot set', 19, 89), ('JKT', 11, 'Jacket', 89, 349),
  ('BSL', 12, 'Base layer', 35, 99)) AS v(prefix, cat_id, noun, low, high), range(1, 13) AS r(n) ORDER BY cat_id, n;
CREATE TABLE tags AS FROM (VALUES (1, 'ultralight'), (2, 'winter'), (3, 'waterproof'), (4, 'recycled'), (5, 'bestseller'),
  (6, 'family'), (7, 'repairable'), (8, 'clearance')) AS v(tag_id, label);
CREATE TABLE product_tags AS
SELECT prod_cd, tag_id FROM products, tags WHERE draw(prod_cd, tag_id) < 0.3 ORDER BY prod_cd, tag_id;

-- Outdoor gear sells before summer and before Christmas. Six in a hundred orders are guest orders without a buyer; three in
-- ten are gifts, which travel south and west.
CREATE TEMP TABLE placed AS
WITH days AS (
  SELECT number, round([5.5, 5.5, 6.5, 8, 10, 10.5, 9, 7, 6, 6.5, 10.5, 13][month(day(number))] * (0.75 + 0.5 * number / 549)
    * (0.7 + 0.6 * draw('busy', number))) AS orders, ((number + 880) * 960) // 1400 AS known
  FROM range(549) AS r(number)
), numbered AS (
  SELECT number, known, row_number() OVER (ORDER BY number, k) AS n FROM days, range(20) AS r(k) WHERE k < orders
), gifts AS (SELECT list(id ORDER BY id) AS targets FROM everyone WHERE region IN ('IBR', 'ISL', 'BNL'))
SELECT o.n, (700100 + 2 * o.n + whole('order', o.n, 0, 1))::INTEGER AS id, number,
  CASE WHEN draw('guest', o.n) >= 0.06 THEN b.id END AS buyer,
  CASE WHEN draw('gift', o.n) < 0.3 THEN pick('to', o.n, targets) ELSE buyer END AS recipient
FROM numbered AS o, gifts, everyone AS b
WHERE b.n = floor(draw('buyer', o.n) * (0.4 + 0.6 * draw('buyer', o.n)) * least(o.known, 960));

CREATE TABLE order_lines AS
WITH shelf AS (SELECT list(prod_cd ORDER BY cat_id, prod_cd) AS codes FROM products),
lines AS (
  SELECT id AS order_id, line_no::INTEGER AS line_no, id * 10 + line_no AS n
  FROM placed, range(1, 5) AS r(line_no) WHERE line_no <= pick('lines', id, [1, 1, 1, 2, 2, 2, 3, 4])
)
SELECT order_id, line_no, prod_cd, pick('quantity', n, [1, 1, 1, 1, 1, 2, 3]) AS qty,
  (list_price * pick('rebate', n, [100, 100, 100, 90, 80]) / 100)::DECIMAL(10, 2) AS unit_price
FROM lines, shelf JOIN products ON prod_cd = codes[1 + floor(draw('product', n) * (0.6 + 0.4 * draw('product', n)) * 96)::INTEGER]
ORDER BY order_id, line_no;
CREATE TABLE orders AS
SELECT id, buyer AS buyer_id, recipient AS recipient_id, moment('placed', n, number) AS placed_at,
  CASE WHEN draw('status', n) < 0.88 THEN 'paid' WHEN draw('status', n) < 0.94 THEN 'refunded' ELSE 'cancelled' END AS status,
  pick('channel', n, ['web', 'web', 'web', 'web', 'web', 'web', 'app', 'app', 'app', 'store']) AS channel,
  pick('from', n, ['HAM1', 'HAM1', 'HAM1', 'HAM1', 'RTM1', 'RTM1', 'RTM1', 'GOT2', 'GOT2', 'RIX1']) AS ship_whs,
  (SELECT sum(qty * unit_price) FROM order_lines WHERE order_id = id)::DECIMAL(10, 2) AS amount
FROM placed ORDER BY id;

CREATE TABLE inventory AS
SELECT whs_cd, prod_cd, whole('on hand', whs_cd || prod_cd, 0, 180) AS on_hand, 5 * whole('reorder', whs_cd || prod_cd, 1, 6) AS reorder_at
FROM warehouses, products WHERE draw(whs_cd, prod_cd) < 0.8 ORDER BY whs_cd, prod_cd;
CREATE TABLE stock_moves AS
WITH stock AS (SELECT list((whs_cd, prod_cd) ORDER BY whs_cd, prod_cd) AS places FROM inventory)
SELECT md5('move' || n)::UUID AS move_id, pick('place', n, places)[1] AS whs_cd, pick('place', n, places)[2] AS prod_cd,
  moment('moved', n, n * 549 // 3600) AS moved_at, CASE reason WHEN 'sale' THEN -1 ELSE 7 END * whole('moved', n, 1, 6) AS qty, reason
FROM (SELECT n, pick('reason', n, ['sale', 'sale', 'sale', 'purchase', 'return']) AS reason FROM range(3600) AS r(n)), stock ORDER BY n;

-- Two thirds of the tickets name the order that they are about; the customer is always that order's buyer.
CREATE TABLE tickets AS
SELECT md5('ticket' || t.n)::UUID AS ticket_id, buyer AS cust_id, CASE WHEN draw('named', t.n) < 0.66 THEN id END AS order_id,
  pick('agent', t.n, agents) AS agent_no, moment('opened', t.n, number + whole('wait', t.n, 0, 14)) AS opened_at,
  CASE WHEN draw('closed', t.n) < 0.93 THEN opened_at + to_hours(whole('open', t.n, 2, 200)) END AS closed_at,
  pick('priority', t.n, ['low', 'normal', 'normal', 'high']) AS priority,
  CASE WHEN draw('rated', t.n) < 0.45 THEN whole('csat', t.n, 1, 5) END AS csat
FROM (SELECT n, whole('about', n, 1, total) AS about FROM range(1450) AS r(n), (SELECT count(*)::INTEGER AS total FROM placed)) AS t
  JOIN placed ON placed.n = about, (SELECT list(emp_no ORDER BY emp_no) AS agents FROM employees WHERE team = 'support')
ORDER BY number, t.n;

-- A polymorphic reference: what entity_id refers to depends on entity_type.
CREATE TABLE notes AS
WITH targets AS (SELECT (SELECT list(id::VARCHAR ORDER BY id) FROM orders) AS o, (SELECT list(id::VARCHAR ORDER BY id) FROM customers) AS c,
  (SELECT list(ticket_id::VARCHAR ORDER BY ticket_id) FROM tickets) AS t, (SELECT list(emp_no ORDER BY emp_no) FROM employees) AS e)
SELECT n::INTEGER AS note_id, pick('kind', n, ['order', 'customer', 'ticket']) AS entity_type,
  pick('entity', n, CASE entity_type WHEN 'order' THEN o WHEN 'customer' THEN c ELSE t END) AS entity_id, pick('author', n, e) AS written_by,
  moment('noted', n, whole('noted on', n, 0, 548)) AS written_at,
  pick('note', n, ['Deliver after six.', 'Call in the morning.', 'Voucher promised.', 'Parcel damaged, has photo.']) AS body
FROM range(1, 1201) AS r(n), targets ORDER BY n;

-- Orders of the former system: a table of the same name in another schema, with numbers of its own.
CREATE SCHEMA legacy;
CREATE TABLE legacy.orders AS
SELECT 'L-' || (48000 + 3 * n) AS order_no, pick('early', n, early) AS customer_id, day(n * 720 // 1100 - 725) AS ordered_on,
  (whole('total', n, 1900, 69000) / 100)::DECIMAL(10, 2) AS total
FROM range(1100) AS r(n), (SELECT list(id ORDER BY id) AS early FROM everyone WHERE since < -60) ORDER BY n;
