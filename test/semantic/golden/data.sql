CREATE TABLE orders (id INTEGER, customer_id INTEGER, ship_customer_id INTEGER, amount INTEGER, quantity INTEGER, cost INTEGER, status VARCHAR(20), created_at TIMESTAMP NULL, shipped_on DATE);
INSERT INTO orders VALUES
  (1, 1, 2, 7, 2, 2, 'paid', '2024-01-07 23:10:05', '2024-01-09'),
  (2, 1, 1, 3, 2, 2, 'open', '2024-01-08 01:59:59', NULL),
  (3, 2, 1, 3, 1, 1, 'settled', '2024-02-01 00:00:00', '2024-02-04'),
  (4, 9, NULL, NULL, 3, 1, NULL, '2024-02-29 12:30:30', '2024-12-30'),
  (5, NULL, 2, 4, 3, 0, 'paid', NULL, '2025-01-01'),
  (6, 3, 3, 11, 3, 4, 'paid', '2023-12-31 23:59:59', '2024-01-01');
CREATE TABLE customers (id INTEGER, segment VARCHAR(20), region_id INTEGER);
INSERT INTO customers VALUES (1, 'ent', 1), (2, 'smb', 2), (3, 'new', NULL), (4, 'ent', 2);
CREATE TABLE regions (id INTEGER, name VARCHAR(20));
INSERT INTO regions VALUES (1, 'EMEA'), (2, 'AMER'), (3, 'APAC');
CREATE TABLE profiles (customer_id INTEGER, score INTEGER);
INSERT INTO profiles VALUES (1, 10), (2, 20), (7, 30);
CREATE TABLE employees (id INTEGER, name VARCHAR(20), manager_id INTEGER, salary INTEGER);
INSERT INTO employees VALUES (1, 'Ada', NULL, 9), (2, 'Bob', 1, 5), (3, 'Cyd', 1, 4), (4, 'Dee', 2, 3);
CREATE TABLE tickets (id INTEGER, customer_id INTEGER, priority VARCHAR(20), opened_on DATE);
INSERT INTO tickets VALUES (1, 1, 'high', '2024-01-31'), (2, 1, 'low', '2024-02-01'), (3, 2, 'low', '2024-03-05'), (4, 9, 'high', NULL), (5, 1, 'high', '2023-12-01');
CREATE TABLE tags (id INTEGER, label VARCHAR(20));
INSERT INTO tags VALUES (1, 'gift'), (2, 'rush'), (3, 'unused');
CREATE TABLE order_tags (order_id INTEGER, tag_id INTEGER);
INSERT INTO order_tags VALUES (1, 1), (1, 2), (2, 2), (6, 1), (3, 9);
CREATE TABLE tiers (customer_id INTEGER, tier VARCHAR(20), since DATE, until DATE);
INSERT INTO tiers VALUES (1, 'basic', NULL, '2024-01-08'), (1, 'gold', '2024-01-08', NULL), (2, 'basic', '2023-01-01', '2024-02-01');
