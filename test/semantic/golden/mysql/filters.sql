-- text in SQL
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (`orders`.`status` = 'paid' or `orders`.`amount` > 5)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- odd text
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `customers` AS `customers`
  WHERE (NOT (`customers`.`segment` IN (CONCAT('it''s a ', CHAR(92 USING utf8mb4), ' " ]'))))
)
SELECT `ktx`.`m1` AS `customers.customer_count`
FROM `ktx facts` AS `ktx`;

-- list with NULL
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (`orders`.`status` IN ('paid') OR `orders`.`status` IS NULL)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- not among
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (NOT (`orders`.`status` IN ('paid', 'open')))
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- between
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (`orders`.`amount` BETWEEN 3 AND 7)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- null
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (`orders`.`amount` IS NULL)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- contains
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (LOCATE('ai', CONVERT(`orders`.`status` USING utf8mb4) COLLATE utf8mb4_bin) > 0)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- contains in another case
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (LOCATE('AI', CONVERT(`orders`.`status` USING utf8mb4) COLLATE utf8mb4_bin) > 0)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- begins and ends
WITH `ktx facts` AS (
  SELECT count(*) AS `m1`
  FROM `orders` AS `orders`
  WHERE (LOCATE('set', CONVERT(`orders`.`status` USING utf8mb4) COLLATE utf8mb4_bin) = 1) AND (LOCATE(reverse('led'), reverse(CONVERT(`orders`.`status` USING utf8mb4)) COLLATE utf8mb4_bin) = 1)
)
SELECT `ktx`.`m1` AS `orders.order_count`
FROM `ktx facts` AS `ktx`;

-- on a joined dataset
WITH `ktx facts` AS (
  SELECT sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  LEFT JOIN `customers` AS `orders.buyer` ON (`orders`.`customer_id` = `orders.buyer`.`id`)
  WHERE (`orders.buyer`.`segment` = 'ent')
)
SELECT `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`;

-- segment
WITH `ktx facts` AS (
  SELECT sum(`orders`.`amount`) AS `m1`
  FROM `orders` AS `orders`
  WHERE (`orders`.`status` = 'paid' or `orders`.`status` = 'settled')
)
SELECT `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`;

-- having
WITH `ktx facts` AS (
  SELECT
    `orders`.`status` AS `d1`,
    sum(`orders`.`amount`) AS `m1`,
    count(*) AS `m2`
  FROM `orders` AS `orders`
  GROUP BY 1
)
SELECT
  `ktx`.`d1` AS `orders.status`,
  `ktx`.`m1` AS `orders.revenue`
FROM `ktx facts` AS `ktx`
WHERE (`ktx`.`m1` > 3) AND (`ktx`.`m2` >= 1)
ORDER BY CASE WHEN `ktx`.`d1` IS NULL THEN 1 ELSE 0 END, `ktx`.`d1`;
