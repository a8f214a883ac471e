-- Why turns did not complete, by agent and model, in the last day.
SELECT
  blob2 AS agent,
  blob4 AS model,
  blob5 AS status,
  blob6 AS reason,
  SUM(_sample_interval) AS turns
FROM cuecard
WHERE blob1 = 'turn' AND blob5 != 'completed' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY agent, model, status, reason
ORDER BY turns DESC
