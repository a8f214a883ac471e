/** card-text.ts: the strings of the weather card. */

import { translate } from "../languages/language.ts"

export const cardText = translate("card", {
  weatherIn: (location: string) => `Weather in ${location}`,
  sampleData: "Sample data",
  feelsLike: (degrees: string) => `Feels like ${degrees}`,
  humidity: "Humidity",
  wind: "Wind",
  precipitation: "Chance of precipitation",
  tomorrow: "Tomorrow",
  showUnit: (unit: "C" | "F") => `Show temperatures in °${unit}`,
})
