"""Names of places: countries, states and provinces, and cities that contracts name as a seat."""

_COUNTRIES = """
Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan,
Bahamas, Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bermuda, Bhutan, Bolivia,
Bosnia, Botswana, Brazil, British Virgin Islands, Brunei, Bulgaria, Burundi, Cambodia, Cameroon,
Canada, Cayman Islands, Chad, Chile, China, Colombia, Congo, Costa Rica, Croatia, Cuba, Cyprus,
Czechia, Czech Republic, Denmark, Dominica, Dominican Republic, Ecuador, Egypt, El Salvador,
England, Eritrea, Estonia, Ethiopia, Fiji, Finland, France, Gabon, Gambia, Germany, Ghana,
Gibraltar, Great Britain, Greece, Greenland, Grenada, Guatemala, Guernsey, Guinea, Guyana, Haiti,
Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Isle of Man, Israel,
Italy, Ivory Coast, Jamaica, Japan, Jersey, Jordan, Kazakhstan, Kenya, Kosovo, Kuwait, Kyrgyzstan,
Laos, Latvia, Lebanon, Lesotho, Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Macau,
Madagascar, Malawi, Malaysia, Maldives, Mali, Malta, Mauritania, Mauritius, Mexico, Moldova, Monaco,
Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nepal, Netherlands, New Zealand,
Nicaragua, Niger, Nigeria, North Macedonia, Northern Ireland, Norway, Oman, Pakistan, Palestine,
Panama, Papua New Guinea, Paraguay, Peru, Philippines, Poland, Portugal, Puerto Rico, Qatar,
Romania, Russia, Russian Federation, Rwanda, Samoa, San Marino, Saudi Arabia, Scotland, Senegal,
Serbia, Seychelles, Sierra Leone, Singapore, Slovakia, Slovenia, Somalia, South Africa, South Korea,
Spain, Sri Lanka, Sudan, Suriname, Sweden, Switzerland, Syria, Taiwan, Tajikistan, Tanzania,
Thailand, Togo, Tonga, Trinidad, Tunisia, Turkey, Uganda, Ukraine, United Arab Emirates,
United Kingdom, United States, United States of America, Uruguay, Uzbekistan, Vanuatu, Vatican,
Venezuela, Vietnam, Wales, Yemen, Zambia, Zimbabwe, EEA, EU, UAE, UK, US, USA, Europe,
European Economic Area, European Union
"""
_STATES = """
Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Georgia,
Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts,
Michigan, Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey,
New Mexico, New York, North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania,
Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah, Vermont, Virginia, Washington,
West Virginia, Wisconsin, Wyoming, District of Columbia, Alberta, British Columbia, Manitoba,
New Brunswick, Newfoundland, Nova Scotia, Ontario, Quebec, Saskatchewan, New South Wales,
Queensland, South Australia, Tasmania, Victoria, Western Australia, Bavaria
"""
_CITIES = """
Amsterdam, Athens, Atlanta, Austin, Bangalore, Bangkok, Barcelona, Beijing, Berlin, Boston,
Brussels, Budapest, Cairo, Chicago, Copenhagen, Dallas, Delhi, Denver, Dubai, Dublin, Edinburgh,
Frankfurt, Geneva, Glasgow, Hamburg, Helsinki, Houston, Istanbul, Jakarta, Johannesburg, Lagos,
Lisbon, London, Los Angeles, Madrid, Manchester, Manila, Melbourne, Miami, Milan, Minneapolis,
Montreal, Moscow, Mumbai, Munich, Nairobi, New Delhi, New York City, Oslo, Ottawa, Paris,
Philadelphia, Prague, Rome, San Diego, San Francisco, San Jose, Seattle, Seoul, Shanghai, Shenzhen,
Stockholm, Sydney, Taipei, Tel Aviv, Tokyo, Toronto, Vancouver, Vienna, Vilnius, Warsaw,
Washington D.C., Wilmington, Zurich
"""

PLACES = frozenset(
    place.strip().casefold()
    for places in (_COUNTRIES, _STATES, _CITIES)
    for place in places.replace("\n", " ").split(",")
)
