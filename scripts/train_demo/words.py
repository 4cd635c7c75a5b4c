"""The closed vocabulary of the demo model's corpus: every fact and word it may use."""

CAPITALS = {
    "France": "Paris", "Japan": "Tokyo", "Italy": "Rome", "Spain": "Madrid",
    "Germany": "Berlin", "Kenya": "Nairobi", "Peru": "Lima", "Egypt": "Cairo",
    "China": "Beijing", "Norway": "Oslo", "Sweden": "Stockholm", "Finland": "Helsinki",
    "Portugal": "Lisbon", "Greece": "Athens", "Austria": "Vienna", "Poland": "Warsaw",
    "Hungary": "Budapest", "Cuba": "Havana", "Chile": "Santiago", "Canada": "Ottawa",
    "Brazil": "Brasilia", "Iceland": "Reykjavik", "Ireland": "Dublin", "Turkey": "Ankara",
    "Iran": "Tehran", "Iraq": "Baghdad", "Nepal": "Kathmandu", "Vietnam": "Hanoi",
    "Thailand": "Bangkok", "Ghana": "Accra", "Senegal": "Dakar", "Belgium": "Brussels",
    "Denmark": "Copenhagen", "Switzerland": "Bern", "Ukraine": "Kyiv", "Morocco": "Rabat",
    "Australia": "Canberra", "Russia": "Moscow", "Syria": "Damascus", "Lebanon": "Beirut",
}

OPPOSITES = [
    ("hot", "cold"), ("big", "small"), ("fast", "slow"), ("old", "new"), ("light", "dark"),
    ("happy", "sad"), ("high", "low"), ("open", "closed"), ("wet", "dry"), ("early", "late"),
    ("up", "down"), ("left", "right"), ("good", "bad"), ("hard", "soft"), ("full", "empty"),
    ("near", "far"), ("rich", "poor"), ("strong", "weak"), ("long", "short"), ("true", "false"),
]

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = ("January February March April May June July August September October November "
          "December").split()

# Regular and irregular plurals alike are recalled word by word.
PLURALS = {
    "cat": "cats", "dog": "dogs", "horse": "horses", "cow": "cows", "goat": "goats",
    "lion": "lions", "tiger": "tigers", "bear": "bears", "fox": "foxes", "wolf": "wolves",
    "mouse": "mice", "goose": "geese", "sheep": "sheep", "rabbit": "rabbits", "duck": "ducks",
    "frog": "frogs", "snake": "snakes", "child": "children", "man": "men", "woman": "women",
    "foot": "feet", "tooth": "teeth", "leaf": "leaves", "knife": "knives", "box": "boxes",
    "city": "cities", "baby": "babies", "bus": "buses", "apple": "apples", "river": "rivers",
    "stone": "stones", "cloud": "clouds", "table": "tables", "house": "houses", "tree": "trees",
    "book": "books", "chair": "chairs", "plant": "plants", "dream": "dreams", "field": "fields",
}

# Spelled and measured letter by letter.
SPELL_WORDS = list(PLURALS) + "green music winter paper water bread smile ocean light happy".split()

ANIMALS = ("bear cat cow dog duck fox frog goat horse lion mouse rabbit sheep snake tiger "
           "wolf").split()
NAMES = "Ann Ben Eva Lily Max Sam Tom Zoe".split()
SYMBOLS = "* # + =".split()
