-- The share of requests that failed (5xx), in steps of five minutes, in the last day.
SELECT
  toStartOfInterval(timestamp, INTERVAL '5' MINUTE) AS time,
  SUM(_sample_interval) AS requests,
  SUM(IF(double1 >= 500, _sample_interval, 0)) / SUM(_sample_interval) AS error_share
FROM cuecard
WHERE blob1 = 'request' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY time
ORDER BY time
