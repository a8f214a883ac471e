-- Requests, failures and times by route, in the last day.
SELECT
  blob2 AS method,
  blob3 AS route,
  SUM(_sample_interval) AS requests,
  SUM(IF(double1 >= 500, _sample_interval, 0)) AS server_errors,
  SUM(IF(double1 = 429, _sample_interval, 0)) AS rate_limited,
  quantileExactWeighted(0.5)(double2, _sample_interval) AS p50_ms,
  quantileExactWeighted(0.95)(double2, _sample_interval) AS p95_ms
FROM cuecard
WHERE blob1 = 'request' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY method, route
ORDER BY requests DESC
