/**
 * sample-cities.ts: invented weather for well-known cities, for the sample source. Every kind of weather occurs.
 */

export interface SampleCity {
  readonly name: string
  /** ISO 3166 code; empty if unknown. */
  readonly country: string
  /** IANA time zone. */
  readonly zone: string
  readonly latitude: number
  readonly longitude: number
  /** WMO code, °C, feels like °C, humidity %, wind km/h, wind direction in degrees. */
  readonly sky: readonly [number, number, number, number, number, number]
  /** WMO code, maximum °C, minimum °C, chance of precipitation %, precipitation mm. */
  readonly tomorrow: readonly [number, number, number, number, number]
}

function createCity(
  name: string,
  country: string,
  zone: string,
  [latitude, longitude]: readonly [number, number],
  sky: SampleCity["sky"],
  tomorrow: SampleCity["tomorrow"],
): SampleCity {
  return { name, country, zone, latitude, longitude, sky, tomorrow }
}

// biome-ignore format: columns make the table readable
export const SAMPLE_CITIES: readonly SampleCity[] = [
  createCity("London", "GB", "Europe/London", [51.5, -0.1], [2, 12.4, 10.1, 78, 14.2, 248], [61, 14, 9, 70, 3.2]),
  createCity("Tokyo", "JP", "Asia/Tokyo", [35.7, 139.7], [0, 21.3, 21, 52, 9.7, 158], [1, 23, 16, 10, 0]),
  createCity("Paris", "FR", "Europe/Paris", [48.9, 2.3], [63, 11.8, 9.9, 88, 18.4, 225], [61, 13, 8, 80, 5.6]),
  createCity("Berlin", "DE", "Europe/Berlin", [52.5, 13.4], [3, 9.6, 7.2, 73, 16.1, 270], [2, 12, 5, 20, 0]),
  createCity("Hamburg", "DE", "Europe/Berlin", [53.6, 10], [80, 8.9, 5.8, 84, 26.3, 292], [80, 10, 6, 75, 4.1]),
  createCity("Munich", "DE", "Europe/Berlin", [48.1, 11.6], [1, 13.7, 13, 58, 8.2, 180], [95, 18, 8, 65, 9.3]),
  createCity("Rome", "IT", "Europe/Rome", [41.9, 12.5], [0, 22.6, 22.4, 49, 11.5, 202], [1, 24, 14, 5, 0]),
  createCity("Madrid", "ES", "Europe/Madrid", [40.4, -3.7], [0, 26.1, 25.3, 31, 7.9, 113], [0, 28, 15, 0, 0]),
  createCity("Barcelona", "ES", "Europe/Madrid", [41.4, 2.2], [1, 21.9, 21.8, 60, 15.3, 135], [2, 22, 15, 15, 0]),
  createCity("Lisbon", "PT", "Europe/Lisbon", [38.7, -9.1], [2, 19.4, 19.1, 66, 22.7, 315], [3, 19, 14, 25, 0.2]),
  createCity("Amsterdam", "NL", "Europe/Amsterdam", [52.4, 4.9], [51, 10.2, 7.4, 90, 24.8, 247], [63, 12, 8, 85, 6.8]),
  createCity("Brussels", "BE", "Europe/Brussels", [50.8, 4.4], [3, 10.9, 8.8, 81, 17.2, 236], [61, 13, 7, 60, 2.1]),
  createCity("Vienna", "AT", "Europe/Vienna", [48.2, 16.4], [2, 14.8, 14.1, 55, 13.6, 315], [1, 17, 7, 5, 0]),
  createCity("Zurich", "CH", "Europe/Zurich", [47.4, 8.5], [45, 6.3, 5.2, 97, 3.6, 45], [3, 11, 4, 20, 0]),
  createCity("Prague", "CZ", "Europe/Prague", [50.1, 14.4], [3, 10.4, 8.9, 70, 12.9, 281], [2, 13, 5, 15, 0]),
  createCity("Warsaw", "PL", "Europe/Warsaw", [52.2, 21], [61, 7.8, 5, 86, 19.7, 293], [3, 10, 4, 35, 0.4]),
  createCity("Copenhagen", "DK", "Europe/Copenhagen", [55.7, 12.6], [3, 8.1, 4.6, 79, 31.4, 258], [51, 9, 5, 55, 1.2]),
  createCity("Stockholm", "SE", "Europe/Stockholm", [59.3, 18.1], [1, 5.4, 2.7, 64, 13.1, 338], [2, 8, 0, 10, 0]),
  createCity("Oslo", "NO", "Europe/Oslo", [59.9, 10.8], [71, -1.2, -5.1, 89, 11.8, 23], [73, 0, -6, 80, 4.6]),
  createCity("Bergen", "NO", "Europe/Oslo", [60.4, 5.3], [65, 6.9, 3.1, 95, 33.8, 214], [65, 8, 4, 95, 21.4]),
  createCity("Helsinki", "FI", "Europe/Helsinki", [60.2, 24.9], [85, 0.8, -3.9, 87, 21.6, 68], [71, 1, -4, 60, 2.3]),
  createCity("Reykjavik", "IS", "Atlantic/Reykjavik", [64.1, -21.9], [86, -0.6, -8.2, 82, 44.9, 45], [85, 1, -3, 70, 3.9]),
  createCity("Dublin", "IE", "Europe/Dublin", [53.3, -6.3], [80, 10.6, 7.9, 85, 25.5, 247], [80, 12, 7, 65, 2.7]),
  createCity("Edinburgh", "GB", "Europe/London", [55.9, -3.2], [53, 8.4, 4.9, 91, 28.2, 236], [3, 11, 6, 40, 0.6]),
  createCity("Athens", "GR", "Europe/Athens", [38, 23.7], [0, 25.2, 25, 42, 16.8, 11], [0, 27, 17, 0, 0]),
  createCity("Istanbul", "TR", "Europe/Istanbul", [41, 29], [2, 17.7, 17.2, 68, 20.9, 22], [61, 18, 13, 55, 1.9]),
  createCity("Kyiv", "UA", "Europe/Kyiv", [50.5, 30.5], [3, 8.7, 6.2, 71, 14.4, 304], [3, 11, 4, 30, 0.1]),
  createCity("Cairo", "EG", "Africa/Cairo", [30, 31.2], [0, 33.4, 31.9, 22, 14.9, 349], [0, 35, 21, 0, 0]),
  createCity("Nairobi", "KE", "Africa/Nairobi", [-1.3, 36.8], [2, 23.8, 24, 59, 12.3, 90], [80, 25, 15, 45, 2.8]),
  createCity("Lagos", "NG", "Africa/Lagos", [6.5, 3.4], [95, 28.6, 33.2, 86, 17.6, 214], [95, 30, 24, 90, 18.5]),
  createCity("Cape Town", "ZA", "Africa/Johannesburg", [-33.9, 18.4], [1, 19.9, 19.2, 61, 36.7, 146], [1, 22, 14, 5, 0]),
  createCity("Dubai", "AE", "Asia/Dubai", [25.2, 55.3], [1, 36.8, 40.1, 44, 18.1, 326], [0, 38, 28, 0, 0]),
  createCity("Mumbai", "IN", "Asia/Kolkata", [19.1, 72.9], [81, 28.9, 34.4, 89, 21.2, 236], [82, 30, 26, 95, 34.7]),
  createCity("Delhi", "IN", "Asia/Kolkata", [28.6, 77.2], [48, 18.3, 18.1, 83, 5.1, 293], [1, 27, 14, 5, 0]),
  createCity("Bangkok", "TH", "Asia/Bangkok", [13.8, 100.5], [96, 31.7, 38.8, 77, 15.8, 180], [95, 33, 26, 75, 12.6]),
  createCity("Singapore", "SG", "Asia/Singapore", [1.4, 103.8], [95, 29.4, 34.6, 84, 12.2, 169], [80, 31, 25, 80, 10.4]),
  createCity("Hong Kong", "HK", "Asia/Hong_Kong", [22.3, 114.2], [3, 26.3, 28.9, 80, 19.3, 90], [81, 27, 24, 60, 5.2]),
  createCity("Beijing", "CN", "Asia/Shanghai", [39.9, 116.4], [1, 15.6, 14.2, 34, 17.9, 337], [0, 18, 6, 0, 0]),
  createCity("Shanghai", "CN", "Asia/Shanghai", [31.2, 121.5], [45, 16.9, 17.1, 94, 4.7, 68], [3, 20, 13, 25, 0]),
  createCity("Seoul", "KR", "Asia/Seoul", [37.6, 127], [2, 13.2, 12.3, 57, 10.8, 281], [1, 16, 6, 5, 0]),
  createCity("Sydney", "AU", "Australia/Sydney", [-33.9, 151.2], [1, 24.7, 24.9, 63, 23.9, 45], [2, 26, 18, 20, 0]),
  createCity("Melbourne", "AU", "Australia/Melbourne", [-37.8, 145], [3, 17.1, 15.8, 69, 29.6, 203], [80, 18, 11, 60, 3.1]),
  createCity("Auckland", "NZ", "Pacific/Auckland", [-36.8, 174.8], [80, 16.4, 15.2, 82, 27.8, 248], [3, 18, 12, 35, 0.3]),
  createCity("New York", "US", "America/New_York", [40.7, -74], [0, 17.9, 17.4, 46, 15.6, 304], [2, 20, 11, 15, 0]),
  createCity("Boston", "US", "America/New_York", [42.4, -71.1], [2, 13.4, 11.8, 58, 21.1, 292], [61, 14, 8, 65, 4.4]),
  createCity("Chicago", "US", "America/Chicago", [41.9, -87.6], [3, 8.8, 4.9, 66, 34.2, 315], [71, 3, -1, 55, 1.6]),
  createCity("Denver", "US", "America/Denver", [39.7, -105], [75, -3.4, -9.6, 91, 24.4, 22], [2, 4, -7, 10, 0]),
  createCity("Miami", "US", "America/New_York", [25.8, -80.2], [95, 28.2, 32.7, 81, 22.4, 135], [81, 30, 24, 70, 8.9]),
  createCity("Seattle", "US", "America/Los_Angeles", [47.6, -122.3], [61, 10.3, 8.8, 90, 12.6, 191], [63, 11, 7, 85, 7.7]),
  createCity("San Francisco", "US", "America/Los_Angeles", [37.8, -122.4], [45, 13.8, 12.6, 92, 19.8, 270], [2, 17, 11, 5, 0]),
  createCity("Los Angeles", "US", "America/Los_Angeles", [34.1, -118.2], [0, 24.4, 24.1, 41, 10.1, 247], [0, 26, 15, 0, 0]),
  createCity("Toronto", "CA", "America/Toronto", [43.7, -79.4], [71, 0.4, -4.3, 83, 18.9, 326], [3, 4, -2, 30, 0.2]),
  createCity("Vancouver", "CA", "America/Vancouver", [49.3, -123.1], [63, 9.1, 6.7, 93, 15.1, 112], [61, 10, 6, 80, 8.2]),
  createCity("Mexico City", "MX", "America/Mexico_City", [19.4, -99.1], [2, 21.2, 20.7, 44, 9.4, 45], [80, 22, 12, 50, 2.4]),
  createCity("São Paulo", "BR", "America/Sao_Paulo", [-23.6, -46.6], [95, 22.9, 24, 85, 16.6, 146], [80, 24, 17, 75, 11.3]),
  createCity("Rio de Janeiro", "BR", "America/Sao_Paulo", [-22.9, -43.2], [1, 27.3, 29.4, 72, 14.7, 124], [2, 29, 22, 25, 0.3]),
  createCity("Buenos Aires", "AR", "America/Argentina/Buenos_Aires", [-34.6, -58.4], [0, 20.8, 20.3, 54, 17.4, 56], [1, 24, 13, 5, 0]),
]
