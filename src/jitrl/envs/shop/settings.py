"""Django settings of the shop: one process, a database in memory, nothing from outside."""

from __future__ import annotations

import os
from typing import Any

from oscar import INSTALLED_APPS
from oscar.defaults import *  # noqa: F403

from jitrl.envs.shop.data import PIPELINE


class _NoMigrations:
    """All tables are made as the models are now."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


LANGUAGE = os.environ.get("JITRL_SHOP_LANGUAGE", "en")
LEAN = os.environ.get("JITRL_SHOP_LEAN", "1") == "1"

DEBUG = False
SECRET_KEY = "the shop holds nothing but made-up data"
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
ROOT_URLCONF = "jitrl.envs.shop.urls"
SITE_ID = 1
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = {"en": "en-us", "zh": "zh-hans"}[LANGUAGE]
LANGUAGES = [(LANGUAGE_CODE, LANGUAGE)]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:shop?mode=memory"}}
INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "django.contrib.admin"]
MIDDLEWARE = [
    "jitrl.envs.shop.pages.offline",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.BaseSignalProcessor"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
LOGGING_CONFIG = None
MIGRATION_MODULES = _NoMigrations()
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ],
        },
    }
]

OSCAR_SHOP_NAME = "Harbor Shop"
OSCAR_DEFAULT_CURRENCY = "USD"
OSCAR_ALLOW_ANON_REVIEWS = False
OSCAR_MODERATE_REVIEWS = True
OSCAR_EAGER_ALERTS = False
OSCAR_SEND_REGISTRATION_EMAIL = False
OSCAR_SAVE_SENT_EMAILS_TO_DB = False
OSCAR_THUMBNAILER = "jitrl.envs.shop.pages.Thumbnails"
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = OSCAR_LINE_STATUS_PIPELINE = PIPELINE
OSCAR_DASHBOARD_ITEMS_PER_PAGE = OSCAR_PRODUCTS_PER_PAGE = 6
