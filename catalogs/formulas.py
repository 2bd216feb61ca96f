"""Ingredient lists for beauty goods, and the claims that those lists allow.

A claim is made only when the list supports it, so "fragrance-free" can be trusted in the demo shops.
"""

from __future__ import annotations

import random

BASES = {
    "gelcream": "Aqua, Glycerin, Butylene Glycol, {act}, Squalane, Caprylic/Capric Triglyceride, Ammonium Acryloyldimethyltaurate/VP Copolymer, Panthenol, Sodium Hyaluronate, Carbomer, Tromethamine, {keep}, {scent}",
    "cream": "Aqua, Glycerin, Cetearyl Alcohol, {act}, Caprylic/Capric Triglyceride, Butyrospermum Parkii Butter, Glyceryl Stearate, Dimethicone, Sodium PCA, Tocopherol, Xanthan Gum, {keep}, {scent}",
    "richcream": "Aqua, Butyrospermum Parkii Butter, Theobroma Cacao Seed Butter, Glycerin, {act}, Cetearyl Alcohol, Cera Alba, Helianthus Annuus Seed Oil, Sorbitan Olivate, Tocopheryl Acetate, {keep}, {scent}",
    "serum": "Aqua, Propanediol, {act}, Glycerin, Pentylene Glycol, Sodium Hyaluronate, Hydroxyethylcellulose, Allantoin, Sodium Citrate, Citric Acid, {keep}, {scent}",
    "oilserum": "Squalane, Simmondsia Chinensis Seed Oil, {act}, Rosa Canina Fruit Oil, Limnanthes Alba Seed Oil, Tocopherol, {scent}",
    "foam": "Aqua, Sodium Cocoyl Isethionate, Glycerin, Cocamidopropyl Betaine, {act}, Coco-Glucoside, Sodium Chloride, Citric Acid, {keep}, {scent}",
    "sulfatewash": "Aqua, Sodium Laureth Sulfate, Cocamidopropyl Betaine, {act}, Glycerin, Sodium Chloride, Disodium EDTA, Citric Acid, {keep}, {scent}",
    "creamwash": "Aqua, Glycerin, Cetyl Alcohol, {act}, Sodium Methyl Cocoyl Taurate, Panthenol, Xanthan Gum, {keep}, {scent}",
    "balm": "Ethylhexyl Palmitate, Synthetic Wax, PEG-20 Glyceryl Triisostearate, {act}, Helianthus Annuus Seed Oil, Tocopherol, {scent}",
    "sunmineral": "Aqua, Zinc Oxide, Caprylic/Capric Triglyceride, Coco-Caprylate, {act}, Glycerin, Polyglyceryl-3 Diisostearate, Tocopherol, {keep}, {scent}",
    "sunchemical": "Aqua, Homosalate, Ethylhexyl Salicylate, Butyl Methoxydibenzoylmethane, Octocrylene, {act}, Dimethicone, Silica, Glycerin, Alcohol Denat., {keep}, {scent}",
    "sunfilter": "Aqua, Diethylamino Hydroxybenzoyl Hexyl Benzoate, Ethylhexyl Triazone, Butylene Glycol, {act}, Isododecane, Niacinamide, Silica, Panthenol, {keep}, {scent}",
    "toner": "Aqua, Butylene Glycol, {act}, Glycerin, Betaine, Panthenol, Allantoin, Sodium Hyaluronate, Disodium EDTA, {keep}, {scent}",
    "alcotoner": "Aqua, Alcohol Denat., {act}, Glycerin, Hamamelis Virginiana Leaf Water, PEG-40 Hydrogenated Castor Oil, Citric Acid, {keep}, {scent}",
    "clay": "Aqua, Kaolin, Bentonite, {act}, Glycerin, Zinc Oxide, Xanthan Gum, Propanediol, {keep}, {scent}",
    "acid": "Aqua, {act}, Propanediol, Butylene Glycol, Sodium Hydroxide, Panthenol, Hydroxyethylcellulose, {keep}, {scent}",
    "scrub": "Aqua, Glycerin, {act}, Juglans Regia Shell Powder, Cetearyl Alcohol, Decyl Glucoside, Xanthan Gum, {keep}, {scent}",
    "lipbalm": "Ricinus Communis Seed Oil, Cera Alba, Butyrospermum Parkii Butter, {act}, Cocos Nucifera Oil, Tocopherol, {scent}",
    "lipvegan": "Ricinus Communis Seed Oil, Candelilla Cera, Butyrospermum Parkii Butter, {act}, Simmondsia Chinensis Seed Oil, Tocopherol, {scent}",
    "lipcolour": "Isododecane, Dimethicone, Trimethylsiloxysilicate, {act}, Kaolin, Tocopherol, Mica, CI 77491, CI 15850, {scent}",
    "powder": "Mica, Talc, {act}, Zinc Stearate, Dimethicone, Silica, Caprylyl Glycol, CI 77491, CI 77492, CI 77891, {scent}",
    "foundation": "Aqua, Cyclopentasiloxane, Titanium Dioxide, Glycerin, {act}, Dimethicone, PEG-10 Dimethicone, Sodium Chloride, CI 77492, CI 77491, {keep}, {scent}",
    "mascara": "Aqua, Cera Alba, Copernicia Cerifera Cera, Stearic Acid, {act}, Acacia Senegal Gum, Panthenol, CI 77499, {keep}, {scent}",
    "lotion": "Aqua, Glycerin, Paraffinum Liquidum, {act}, Cetearyl Alcohol, Dimethicone, Stearic Acid, Carbomer, {keep}, {scent}",
    "bodyoil": "Helianthus Annuus Seed Oil, Simmondsia Chinensis Seed Oil, {act}, Cocos Nucifera Oil, Tocopherol, {scent}",
    "butter": "Butyrospermum Parkii Butter, {act}, Cocos Nucifera Oil, Theobroma Cacao Seed Butter, Tocopherol, {scent}",
    "soap": "Sodium Palmate, Sodium Palm Kernelate, Aqua, Glycerin, {act}, Butyrospermum Parkii Butter, Sodium Chloride, {scent}",
    "shampoo": "Aqua, Sodium Lauroyl Methyl Isethionate, Cocamidopropyl Hydroxysultaine, {act}, Glycerin, Guar Hydroxypropyltrimonium Chloride, Citric Acid, {keep}, {scent}",
    "shampoosulfate": "Aqua, Sodium Laureth Sulfate, Sodium Lauryl Sulfate, Cocamide MEA, {act}, Dimethiconol, Glycol Distearate, Sodium Chloride, {keep}, {scent}",
    "conditioner": "Aqua, Cetearyl Alcohol, Behentrimonium Chloride, {act}, Cetyl Esters, Glycerin, Panthenol, Citric Acid, {keep}, {scent}",
    "conditionersilicone": "Aqua, Cetearyl Alcohol, Amodimethicone, Behentrimonium Methosulfate, {act}, Dimethicone, Hydrolyzed Keratin, {keep}, {scent}",
    "hairoil": "Ricinus Communis Seed Oil, {act}, Vitis Vinifera Seed Oil, Simmondsia Chinensis Seed Oil, Tocopherol, {scent}",
    "hairgel": "Aqua, {act}, Glycerin, Polyquaternium-37, Panthenol, Sodium Hydroxide, {keep}, {scent}",
    "perfume": "Alcohol Denat., Parfum, Aqua, {act}, Linalool, Limonene, Citronellol, Coumarin",
    "perfumeoil": "Caprylic/Capric Triglyceride, Parfum, {act}, Linalool, Benzyl Salicylate, Tocopherol",
    "deo": "Aqua, Aluminum Chlorohydrate, {act}, Glycerin, Steareth-2, Cetyl Alcohol, {keep}, {scent}",
}
KEEPERS = {
    "mild": "Phenoxyethanol, Ethylhexylglycerin",
    "caprylyl": "1,2-Hexanediol, Caprylyl Glycol",
    "paraben": "Methylparaben, Propylparaben",
    "benzoate": "Sodium Benzoate, Potassium Sorbate",
}
SCENTS = {
    "none": "",
    "parfum": "Parfum",
    "parfumplus": "Parfum, Linalool, Limonene, Hexyl Cinnamal",
    "rose": "Rosa Damascena Flower Oil, Citronellol, Geraniol",
    "lavender": "Lavandula Angustifolia Oil, Linalool",
    "citrus": "Citrus Aurantium Dulcis Peel Oil, Limonene",
    "mint": "Mentha Piperita Oil, Menthol",
    "vanilla": "Vanilla Planifolia Fruit Extract, Parfum",
    "coconut": "Parfum, Coumarin",
}
SCENT_WORDS = {
    "parfum": ["Lightly fragranced", "Soft clean fragrance", ""],
    "parfumplus": ["Perfumed, stays on the skin", "Contains fragrance"],
    "rose": ["Natural rose fragrance", "Rose scented with damask rose oil"],
    "lavender": ["Lavender scent from essential oil"],
    "citrus": ["Sweet orange scent", "Citrus scented"],
    "mint": ["Cooling peppermint scent"],
    "vanilla": ["Warm vanilla fragrance"],
    "coconut": ["Coconut fragrance"],
}
FRAGRANT = (
    "parfum",
    "fragrance",
    "linalool",
    "limonene",
    "citronellol",
    "geraniol",
    "coumarin",
    "lavandula",
    "rosa damascena",
    "citrus aurantium dulcis peel",
    "mentha",
    "vanilla",
    "hexyl cinnamal",
    "benzyl salicylate",
    "tea tree",
    "melaleuca",
    "eucalyptus",
)
SILICONE = ("dimethicon", "siloxane", "amodimethicone", "siloxysilicate")
ANIMAL = (
    "cera alba",
    "mel,",
    "honey",
    "lanolin",
    "collagen",
    "keratin",
    "snail",
    "propolis",
    "squalene",
    "carmine",
    "royal jelly",
    "milk",
    "lac,",
)
PORE_CLOGGING = (
    "cocos nucifera",
    "theobroma cacao",
    "isopropyl myristate",
    "ethylhexyl palmitate",
    "paraffinum",
)


def inci_list(facts: dict[str, str], rng: random.Random) -> list[str]:
    """The ingredients, most first, from the base, the actives and the scent in `facts`."""
    keep = facts.get("keep") or rng.choice(["mild", "mild", "caprylyl", "benzoate", "paraben"])
    text = BASES[facts["base"]].format(
        act=facts.get("act", "").replace("+", ", "),
        keep=KEEPERS[keep],
        scent=SCENTS[facts.get("scent", "none")],
    )
    # "1,2-Hexanediol" holds a comma of its own, so cut only at a comma and a blank.
    return list(dict.fromkeys(part for part in text.split(", ") if part))


def contains(inci: list[str], words: tuple[str, ...]) -> bool:
    text = ", ".join(inci).lower() + ","
    return any(word in text for word in words)


def claims(inci: list[str], facts: dict[str, str]) -> list[str]:
    """Every claim that this list supports and that this sort of product would make."""
    said = []
    if not contains(inci, FRAGRANT):
        said.append("Fragrance-free")
    if not contains(inci, ("paraben",)):
        said.append("Paraben-free")
    washes = facts.get("dept") == "hair" or "wash" in facts
    if washes and not contains(inci, ("sulfate",)):
        said.append("Sulfate-free")
    if facts.get("dept") == "face":
        if not contains(inci, ("alcohol denat",)):
            said.append("Alcohol-free")
        if not contains(inci, PORE_CLOGGING) and (
            "oily" in facts.get("skin", "") or "all" in facts.get("skin", "")
        ):
            said.append("Non-comedogenic")
    if not contains(inci, SILICONE) and facts.get("dept") in ("face", "hair", "colour"):
        said.append("Silicone-free")
    if not contains(inci, ANIMAL):
        said.append("Vegan formula")
    return said


def scent_words(facts: dict[str, str], rng: random.Random) -> list[str]:
    words = rng.choice(SCENT_WORDS.get(facts.get("scent", "none"), [""]))
    return [words] if words else []
