-- The tenants with the most turns in the last day, with the rows written per turn.
SELECT
  index1 AS tenant,
  SUM(_sample_interval) AS turns,
  SUM(double6 * _sample_interval) / SUM(_sample_interval) AS rows_per_turn,
  quantileExactWeighted(0.95)(double1, _sample_interval) AS p95_ms
FROM cuecard
WHERE blob1 = 'turn' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY tenant
ORDER BY turns DESC
LIMIT 50
