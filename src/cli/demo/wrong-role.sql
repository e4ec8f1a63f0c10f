SELECT r.rgn_nm, date_trunc('month', o.placed_at) AS month, sum(o.amount) AS revenue
FROM orders o
LEFT JOIN customers c ON c.id = o.recipient_id
LEFT JOIN regions r ON r.rgn_cd = c.cust_rgn
WHERE o.status = 'paid'
GROUP BY 1, 2
