-- Milliseconds from the acceptance of a question to the first text of its answer, in steps of five minutes, in the last day.
SELECT
  toStartOfInterval(timestamp, INTERVAL '5' MINUTE) AS time,
  quantileExactWeighted(0.5)(double2, _sample_interval) AS p50_ms,
  quantileExactWeighted(0.95)(double2, _sample_interval) AS p95_ms
FROM cuecard
WHERE blob1 = 'turn' AND double2 >= 0 AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY time
ORDER BY time
