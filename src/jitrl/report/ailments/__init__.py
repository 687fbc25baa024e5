"""What the doctor says, in English and Chinese."""

from jitrl.report.ailments.chinese import CHINESE
from jitrl.report.ailments.english import ENGLISH
from jitrl.report.ailments.words import Words
from jitrl.report.words import Language

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
