-- Turns by model in the last day: how they ended, tokens, cost, and the time to the first text.
SELECT
  blob3 AS provider,
  blob4 AS model,
  SUM(_sample_interval) AS turns,
  SUM(IF(blob5 = 'completed', _sample_interval, 0)) AS completed,
  SUM(IF(blob5 = 'failed', _sample_interval, 0)) AS failed,
  SUM(double3 * _sample_interval) AS input_tokens,
  SUM(double4 * _sample_interval) AS output_tokens,
  SUM(IF(double5 >= 0, double5, 0) * _sample_interval) / 1000000000 AS known_cost_usd,
  SUM(IF(double5 < 0, _sample_interval, 0)) AS turns_of_unknown_cost
FROM cuecard
WHERE blob1 = 'turn' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY provider, model
ORDER BY turns DESC
